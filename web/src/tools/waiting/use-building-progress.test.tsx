import { screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { serve, show } from '@/testing/fake-server';
import { StageList } from './stage-list';
import { useBuildingProgress } from './use-building-progress';

function Progress({ taskId }: { taskId: string | null }) {
  return <StageList progress={useBuildingProgress(taskId)} />;
}

const event = (id: number, chunk: object) => `id: ${id}\ndata: ${JSON.stringify(chunk)}\n\n`;
const stage = (id: number, stage: string, detail?: string) =>
  event(id, {
    type: 'tool-output-available',
    toolCallId: 'c',
    preliminary: true,
    output: { type: 'agent_progress', message: '', stage, detail },
  });

afterEach(() => vi.unstubAllGlobals());

test('the stream of the operation moves the stages', async () => {
  serve({
    'GET /api/chat/tasks/t/stream': () =>
      new Response(
        `${stage(1, 'understanding')}${event(2, { type: 'start' })}${stage(3, 'checking', 'no errors')}data: [DONE]\n\n`,
      ),
  });
  show(<Progress taskId="t" />);
  expect(await screen.findByText('Checking: no errors')).toBeDefined();
  expect(screen.getByText('Checking').getAttribute('aria-current')).toBe('step');
  expect(screen.getByText('Understanding the goal').textContent).toContain('(done)');
});

test('without a task nothing is requested, and a stream that is gone shows no stage', async () => {
  const requests = serve({});
  show(<Progress taskId={null} />);
  expect(requests).toHaveLength(0);
  show(<Progress taskId="gone" />);
  await expect.poll(() => requests.length).toBe(1);
  expect(screen.queryByText(/\(done\)/)).toBeNull();
});
