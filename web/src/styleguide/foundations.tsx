// Colors and type.

import { Entry, Specimen } from './specimen';

const SURFACES = [
  ['bg-canvas', 'canvas'],
  ['bg-surface', 'surface'],
  ['bg-raised', 'raised'],
  ['bg-sunken', 'sunken'],
] as const;

const MEANINGS = [
  ['bg-accent text-accent-ink', 'accent'],
  ['bg-accent-soft text-accent', 'accent-soft'],
  ['bg-good-soft text-good', 'good'],
  ['bg-warn-soft text-warn', 'warn'],
  ['bg-bad-soft text-bad', 'bad'],
] as const;

const TYPE = [
  ['text-2xl font-semibold tracking-tight', 'Page title'],
  ['text-lg font-semibold', 'Dialog title'],
  ['font-semibold', 'Panel title'],
  ['text-base', 'Body text'],
  ['text-sm', 'Small text'],
  ['text-sm text-muted', 'Secondary text'],
  ['text-xs text-muted tabular-nums', 'Facts: 12 s, 1,284 runs'],
  ['font-mono text-sm', 'code_and_names'],
] as const;

export function Foundations() {
  return (
    <>
      <Entry title="Surfaces">
        <Specimen title="From bottom to top; sunken surfaces hold content">
          <Swatches swatches={SURFACES} />
        </Specimen>
      </Entry>
      <Entry title="Meaning">
        <Specimen title="Accent for actions; three semantic colors">
          <Swatches swatches={MEANINGS} />
        </Specimen>
      </Entry>
      <Entry title="Type">
        <Specimen title="System fonts in a few sizes">
          <div className="flex flex-col gap-2">
            {TYPE.map(([look, text]) => (
              <p key={text} className={look}>
                {text}
              </p>
            ))}
          </div>
        </Specimen>
      </Entry>
    </>
  );
}

function Swatches({ swatches }: { swatches: readonly (readonly [look: string, name: string])[] }) {
  return (
    <ul className="grid grid-cols-2 gap-2 sm:grid-cols-4">
      {swatches.map(([look, name]) => (
        <li key={name} className={`rounded-lg border border-line px-3 py-4 text-sm ${look}`}>
          {name}
        </li>
      ))}
    </ul>
  );
}
