import { useState } from 'react';
import { errorMessage } from '@/api/problem';

/** Runs an action of the user, with its busy state and its error. */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  /** Resolves to whether it succeeded. */
  async function attempt(work: () => Promise<unknown>): Promise<boolean> {
    setBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(errorMessage(error));
      return false;
    } finally {
      setBusy(false);
    }
  }

  return { busy, problem, setProblem, attempt };
}
