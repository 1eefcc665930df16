import { Monitor, Moon, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { chooseTheme, type Theme, useTheme } from './theme';

const THEMES: { theme: Theme; label: string; Icon: typeof Sun }[] = [
  { theme: 'light', label: 'Light', Icon: Sun },
  { theme: 'system', label: 'As the system', Icon: Monitor },
  { theme: 'dark', label: 'Dark', Icon: Moon },
];

type Props = {
  /** Stands for the group where it cannot be seen. */
  legend: string;
  className: string;
  choiceClassName: string;
  inputClassName: string;
  children: (choice: { label: string; Icon: typeof Sun }) => ReactNode;
};

/** Light, dark, or as the system has it; what a choice looks like is the caller's. */
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
