'use client';

import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { type FormEvent, useMemo, useState } from 'react';
import { cancelTurn, streamUrl } from './sessions';

export function Chat({ id, history }: { id: string; history: UIMessage[] }) {
  const [draft, setDraft] = useState('');
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: streamUrl(id),
        prepareReconnectToStreamRequest: () => ({ api: streamUrl(id) }),
      }),
    [id],
  );
  // `resume` asks for the running turn when the page is loaded, and replaces its partial message in the history.
  const { messages, sendMessage, status, error } = useChat({ id, messages: history, transport, resume: true });
  const running = status === 'submitted' || status === 'streaming';

  const send = (event: FormEvent) => {
    event.preventDefault();
    if (running || !draft.trim()) return;
    void sendMessage({ text: draft });
    setDraft('');
  };

  return (
    <main data-status={status}>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role} style={{ whiteSpace: 'pre-wrap', margin: '1rem 0' }}>
          <strong>{message.role === 'user' ? 'You' : 'Pilothouse'}</strong>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send} style={{ display: 'flex', gap: '0.5rem' }}>
        <input
          aria-label="Message"
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          style={{ flex: 1 }}
        />
        {running ? (
          // The turn runs on the server: closing the connection would not stop it.
          <button type="button" onClick={() => cancelTurn(id)}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  );
}

function Part({ part }: { part: UIMessage['parts'][number] }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type.startsWith('tool-') && 'state' in part) {
    return (
      <p>
        <code>{part.type.slice('tool-'.length)}</code> {part.state}
      </p>
    );
  }
  return null;
}
