import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { classes } from '../classes';

/** A dropdown menu. Not modal: it doesn't lock scrolling, so no styles are set from script. */
export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactNode;
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  const [button, setButton] = useState<HTMLButtonElement | null>(null);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger ref={setButton} asChild>
        {trigger}
      </DropdownMenu.Trigger>
      {/* Nothing outside a modal dialog can be clicked, so a menu in a dialog opens inside it. */}
      <DropdownMenu.Portal container={button?.closest('dialog')}>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          className="z-50 min-w-40 rounded-xl border border-line bg-raised p-1 text-sm shadow-card"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

type ItemProps = {
  icon?: ReactNode;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
  children: ReactNode;
};

export function MenuItem({ icon, onSelect, danger, disabled, children }: ItemProps) {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      disabled={disabled}
      className={classes(
        'flex cursor-pointer items-center gap-2 rounded-lg px-2.5 py-2 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-sunken',
        danger && 'text-bad',
      )}
    >
      {icon}
      {children}
    </DropdownMenu.Item>
  );
}
