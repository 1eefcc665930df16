import { ThemeChoices } from '@/ui/theme/theme-choices';

/** The theme choices as three small buttons. */
export function ThemeSwitch() {
  return (
    <ThemeChoices
      legend="Theme"
      className="relative flex rounded-lg bg-sunken p-0.5"
      choiceClassName="relative cursor-pointer rounded-md p-1.5 text-muted hover:text-ink has-checked:bg-raised has-checked:text-ink has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-accent pointer-coarse:p-3"
      inputClassName="sr-only"
    >
      {({ label, Icon }) => (
        <>
          <Icon aria-hidden className="size-4" />
          <span className="sr-only">{label}</span>
        </>
      )}
    </ThemeChoices>
  );
}
