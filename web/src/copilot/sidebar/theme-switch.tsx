import { Monitor, Moon, Sun } from 'lucide-react';
import { chooseTheme, useTheme } from '@/ui/theme';

const THEMES = [
  { theme: 'light', label: 'Light', Icon: Sun },
  { theme: 'system', label: 'As the system', Icon: Monitor },
  { theme: 'dark', label: 'Dark', Icon: Moon },
] as const;

/** Light, dark, or as the system has it. */
export function ThemeSwitch() {
  const chosen = useTheme();
  return (
    <fieldset className="relative flex rounded-lg bg-sunken p-0.5">
      <legend className="sr-only">Colours</legend>
      {THEMES.map(({ theme, label, Icon }) => (
        <label
          key={theme}
          title={label}
          className="relative cursor-pointer rounded-md p-1.5 text-muted hover:text-ink has-checked:bg-raised has-checked:text-ink has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-accent pointer-coarse:p-3"
        >
          <input
            type="radio"
            name="theme"
            value={theme}
            checked={chosen === theme}
            onChange={() => chooseTheme(theme)}
            className="sr-only"
          />
          <Icon aria-hidden className="size-4" />
          <span className="sr-only">{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
