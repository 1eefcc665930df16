import { describe, expect, it } from 'vitest';
import { blockName, humanName } from './names';

describe('identifier names', () => {
  it.each([
    ['tax_percent', 'Tax percent'],
    ['taxPercent', 'Tax percent'],
    ['api_key', 'API key'],
    ['HTMLParser', 'HTML parser'],
    ['first-id', 'First ID'],
    ['Written by a Person', 'Written by a Person'],
    ['', ''],
    ['___', ''],
  ])('%j becomes %j', (name, expected) => expect(humanName(name)).toBe(expected));

  it('block names lose their suffix', () => {
    expect(blockName('SendWebRequestBlock')).toBe('Send web request');
    expect(blockName('AITextGeneratorBlock')).toBe('AI text generator');
    expect(blockName('Block')).toBe('Block');
  });
});
