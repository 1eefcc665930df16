import { Section } from './section';

const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

type Shortcut = { keys: string[]; action: string };

const GROUPS: { title: string; shortcuts: Shortcut[] }[] = [
  {
    title: 'Copilot',
    shortcuts: [
      {
        keys: ['Enter'],
        action: "Send message (or a follow-up while it's responding). On touch screens: new line",
      },
      { keys: ['Shift', 'Enter'], action: 'New line' },
      { keys: [MOD, '.'], action: 'Stop the response' },
      { keys: [MOD, 'K'], action: 'Search chats' },
      { keys: [MOD, 'Shift', 'O'], action: 'New chat' },
    ],
  },
  {
    title: 'Everywhere',
    shortcuts: [
      { keys: ['Esc'], action: 'Close the open dialog, menu or chat list' },
      { keys: ['Tab'], action: 'Move to the next control' },
    ],
  },
];

export function Shortcuts() {
  return (
    <Section id="shortcuts" title="Keyboard shortcuts">
      <table className="w-full text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">Keys</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        {GROUPS.map(({ title, shortcuts }) => (
          <tbody key={title} className="divide-y divide-line">
            <tr>
              <th scope="rowgroup" colSpan={2} className="pt-3 pb-1 text-left text-xs font-medium text-muted">
                {title}
              </th>
            </tr>
            {shortcuts.map(({ keys, action }) => (
              <tr key={action}>
                <th scope="row" className="w-40 py-2 pr-4 text-left font-normal whitespace-nowrap">
                  {keys.map((key, index) => (
                    <span key={key}>
                      {index > 0 && <span className="text-muted"> + </span>}
                      <kbd className="rounded-md border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">
                        {key}
                      </kbd>
                    </span>
                  ))}
                </th>
                <td className="py-2">{action}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Section>
  );
}
