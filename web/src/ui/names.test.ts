import { describe, expect, it } from 'vitest';
import { blockName, humanName } from './names';

describe('names of programs', () => {
  it.each([
    ['tax_percent', 'Tax percent'],
    ['taxPercent', 'Tax percent'],
    ['api_key', 'API key'],
    ['HTMLParser', 'HTML parser'],
    ['first-id', 'First ID'],
    ['Written by a Person', 'Written by a Person'],
    ['', ''],
    ['___', ''],
  ])('%j reads as %j', (name, words) => expect(humanName(name)).toBe(words));

  it('of blocks lose what they all have', () => {
    expect(blockName('SendWebRequestBlock')).toBe('Send web request');
    expect(blockName('AITextGeneratorBlock')).toBe('AI text generator');
    expect(blockName('Block')).toBe('Block');
  });
});
