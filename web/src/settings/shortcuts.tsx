import { Section } from './section';

const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

const SHORTCUTS: { keys: string[]; what: string }[] = [
  {
    keys: ['Enter'],
    what: 'Send the message; while a turn is at work, as a follow-up. On a touch screen: begin a new line',
  },
  { keys: ['Shift', 'Enter'], what: 'Begin a new line' },
  { keys: [MOD, '.'], what: 'Stop the turn' },
  { keys: [MOD, 'K'], what: 'Search the sessions' },
  { keys: [MOD, 'Shift', 'O'], what: 'Begin a new chat' },
  { keys: ['Esc'], what: 'Close what is open: a window, a menu, the list of sessions' },
  { keys: ['Tab'], what: 'Go on to what comes next; the first one on a page skips to its content' },
];

export function Shortcuts() {
  return (
    <Section id="shortcuts" title="Keyboard shortcuts" hint="In the copilot, apart from the last two.">
      <table className="w-full text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">Keys</th>
            <th scope="col">What they do</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {SHORTCUTS.map(({ keys, what }) => (
            <tr key={what}>
              <th scope="row" className="w-40 py-2 pr-4 text-left font-normal whitespace-nowrap">
                {keys.map((key, place) => (
                  <span key={key}>
                    {place > 0 && <span className="text-muted"> + </span>}
                    <kbd className="rounded-md border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">
                      {key}
                    </kbd>
                  </span>
                ))}
              </th>
              <td className="py-2">{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
