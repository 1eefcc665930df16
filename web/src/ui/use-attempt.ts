import { useState } from 'react';
import { wordsOf } from '@/api/problem';

/** Something that a person has asked for: whether it is under way, and why it failed. */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  /** Whether it worked. */
  async function attempt(work: () => Promise<unknown>): Promise<boolean> {
    setBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(wordsOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  }

  return { busy, problem, setProblem, attempt };
}
