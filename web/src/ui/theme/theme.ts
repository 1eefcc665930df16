// The color theme: the system's until the user chooses one. `theme.js` sets the first one before the page is painted.

import { Store, useStore } from '@/lib/store';

export type Theme = 'light' | 'dark' | 'system';

const KEY = 'theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const chosen = new Store<Theme>(stored());

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  apply();
}

export function useTheme(): Theme {
  return useStore(chosen);
}

function apply(): void {
  const theme = stored();
  const dark = theme === 'system' ? system.matches : theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  chosen.set(theme);
}

function stored(): Theme {
  const theme = localStorage.getItem(KEY);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

system.addEventListener('change', apply);
// Another tab has changed it.
addEventListener('storage', (event) => event.key === KEY && apply());
