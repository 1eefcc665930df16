import { Monitor, Moon, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { chooseTheme, type Theme, useTheme } from './theme';

const THEMES: { theme: Theme; label: string; Icon: typeof Sun }[] = [
  { theme: 'light', label: 'Light', Icon: Sun },
  { theme: 'system', label: 'System', Icon: Monitor },
  { theme: 'dark', label: 'Dark', Icon: Moon },
];

type Props = {
  /** The accessible name of the group. */
  legend: string;
  className: string;
  choiceClassName: string;
  inputClassName: string;
  children: (choice: { label: string; Icon: typeof Sun }) => ReactNode;
};

/** Light, dark, or system; the caller renders each choice. */
export function ThemeChoices({ legend, className, choiceClassName, inputClassName, children }: Props) {
  const chosen = useTheme();
  return (
    <fieldset className={className}>
      <legend className="sr-only">{legend}</legend>
      {THEMES.map(({ theme, label, Icon }) => (
        <label key={theme} title={label} className={choiceClassName}>
          <input
            type="radio"
            name="theme"
            value={theme}
            checked={chosen === theme}
            onChange={() => chooseTheme(theme)}
            className={inputClassName}
          />
          {children({ label, Icon })}
        </label>
      ))}
    </fieldset>
  );
}
