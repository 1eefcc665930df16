import { Monitor, Moon, Sun } from 'lucide-react';
import { chooseTheme, type Theme, useTheme } from '@/ui/theme';
import { Section } from './section';

const THEMES: { theme: Theme; label: string; Icon: typeof Sun }[] = [
  { theme: 'system', label: 'As the system', Icon: Monitor },
  { theme: 'light', label: 'Light', Icon: Sun },
  { theme: 'dark', label: 'Dark', Icon: Moon },
];

export function Appearance() {
  const chosen = useTheme();
  return (
    <Section id="appearance" title="Appearance" hint="Kept in this browser.">
      <fieldset className="grid gap-2 sm:grid-cols-3">
        <legend className="sr-only">Theme</legend>
        {THEMES.map(({ theme, label, Icon }) => (
          <label
            key={theme}
            className="flex min-h-12 cursor-pointer items-center gap-3 rounded-xl border border-line px-4 py-3 text-sm hover:bg-sunken has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name="theme"
              value={theme}
              checked={chosen === theme}
              onChange={() => chooseTheme(theme)}
              className="size-4 accent-accent outline-none"
            />
            <Icon aria-hidden className="size-5 text-muted" />
            {label}
          </label>
        ))}
      </fieldset>
    </Section>
  );
}
