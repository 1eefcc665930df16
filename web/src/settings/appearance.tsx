import { ThemeChoices } from '@/ui/theme/theme-choices';
import { Section } from './section';

export function Appearance() {
  return (
    <Section id="appearance" title="Appearance" hint="Saved in this browser.">
      <ThemeChoices
        legend="Theme"
        className="grid gap-2 sm:grid-cols-3"
        choiceClassName="flex min-h-12 cursor-pointer items-center gap-3 rounded-xl border border-line px-4 py-3 text-sm hover:bg-sunken has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
        inputClassName="size-4 accent-accent outline-none"
      >
        {({ label, Icon }) => (
          <>
            <Icon aria-hidden className="size-5 text-muted" />
            {label}
          </>
        )}
      </ThemeChoices>
    </Section>
  );
}
