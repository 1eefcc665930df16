'use client';

import type { UIMessage } from 'ai';
import { useEffect, useState } from 'react';
import { Chat } from './chat';
import { createSession, readHistory } from './sessions';

/** Opens the session that the address names, or a new one, whose id it puts into the address. */
export default function Page() {
  const [opened, setOpened] = useState<{ id: string; history: UIMessage[] }>();
  const [error, setError] = useState<string>();

  useEffect(() => {
    const open = async () => {
      const named = new URLSearchParams(location.search).get('session');
      if (named) return { id: named, history: await readHistory(named) };
      const id = await createSession();
      history.replaceState(null, '', `?session=${id}`);
      return { id, history: [] };
    };
    open().then(setOpened, (reason: unknown) => setError(String(reason)));
  }, []);

  if (error) return <p role="alert">{error}</p>;
  return opened ? <Chat key={opened.id} id={opened.id} history={opened.history} /> : <p>Loading…</p>;
}
