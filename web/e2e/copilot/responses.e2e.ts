import { checkAccessible, expect, PHONE, test } from '../harness';
import { Copilot, storedTranscript } from './copilot';

const TWO_TOOLS = [
  '/tool todo_write {"todos":[{"content":"Cast off","activeForm":"Casting off","status":"in_progress"}]}',
  '/tool read_workspace_file {"path":"chart.txt"}',
].join('\n');

test('a message gets a response, and the chat has a URL that reopens it', async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/stream count=40 size=5 delay_ms=5');
  const id = await copilot.sessionId();
  const said = await copilot.transcript();
  expect(said).toEqual(await storedTranscript(server, id));
  expect(said[1]?.length).toBeGreaterThan(150);

  await copilot.sendAndWait('/stream count=3 size=4');
  expect(await copilot.transcript()).toEqual(await storedTranscript(server, id));

  const again = await Copilot.open(visitor, id);
  await again.responses.nth(1).waitFor();
  expect(await again.transcript()).toEqual(await storedTranscript(server, id));
});

test('Shift+Enter starts a new line, and Enter sends', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.field.fill('first');
  await copilot.field.press('Shift+Enter');
  await copilot.field.pressSequentially('second');
  expect(await copilot.field.inputValue()).toBe('first\nsecond');
  await copilot.field.press('Enter');
  await copilot.responses.first().waitFor();
  expect(await copilot.userMessages.first().textContent()).toContain('first\nsecond');
  expect(await copilot.field.inputValue()).toBe('');
});

test('reasoning is collapsed until it is opened', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait('/think The wind is turning to the west');
  const thought = copilot.page.getByText('The wind is turning to the west', { exact: true });
  expect(await thought.isVisible()).toBe(false);
  await copilot.responses.getByText('Reasoning', { exact: true }).click();
  await thought.waitFor();
});

test('every tool call has a card with its result', async ({ visitor }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.sendAndWait(TWO_TOOLS);
  const [answer] = await copilot.responses.all();
  await answer?.getByText('Casting off').first().waitFor();
  await answer
    ?.getByText(/file not found/i)
    .first()
    .waitFor();
});

test('a stopped response keeps its text, and the next message works', async ({ visitor, server }) => {
  const copilot = await Copilot.open(visitor);
  await copilot.send('/stream count=2000 size=10 delay_ms=20');
  await copilot.waitForText(100);
  await copilot.stop.click();
  await copilot.waitUntilIdle();
  await copilot.page.getByText('Stopped.', { exact: true }).waitFor();
  const id = await copilot.sessionId();
  await expect.poll(() => copilot.transcript()).toEqual(await storedTranscript(server, id));
  await copilot.sendAndWait('/stream count=3 size=4');
  expect(await copilot.transcript()).toHaveLength(4);
});

test('a chat is accessible in both themes and on a phone', async ({ newVisitor, visitor }) => {
  const first = await Copilot.open(visitor);
  await first.sendAndWait(TWO_TOOLS);
  await first.sendAndWait('/help');
  await checkAccessible(first.page);
  const id = await first.sessionId();
  for (const options of [
    { colorScheme: 'dark' as const },
    { viewport: PHONE, hasTouch: true, isMobile: true },
  ]) {
    const copilot = await Copilot.open(await newVisitor(options), id);
    await copilot.responses.nth(1).waitFor();
    await checkAccessible(copilot.page);
    const overflow = await copilot.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow, 'nothing is wider than the screen').toBeLessThanOrEqual(0);
  }
});
