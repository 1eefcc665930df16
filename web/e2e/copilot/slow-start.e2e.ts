import { test } from '../harness';
import { Copilot } from './copilot';

test.override('settings', { NUM_COPILOT_WORKERS: '1' });

test('a response that does not start is reported as slow, and still arrives', async ({ visitor }) => {
  const first = await Copilot.open(visitor);
  await first.send('/stream count=5000 size=5 delay_ms=50');
  await first.waitForText(20);
  const second = await Copilot.open(visitor);
  await second.send('/stream count=3 size=5');
  await second.page.getByText(/Still waiting after 12 seconds/).waitFor({ timeout: 20_000 });
  await first.stop.click();
  await second.responses.first().waitFor();
  await second.waitUntilIdle();
});
