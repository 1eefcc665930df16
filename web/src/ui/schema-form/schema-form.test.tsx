import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { SchemaForm } from './schema-form';

const SCHEMA = {
  type: 'object',
  properties: {
    customer: { type: 'string', title: 'Customer', description: 'Who it is for.' },
    days: { type: 'integer', minimum: 1, default: 3 },
    paid: { type: 'boolean', title: 'Paid' },
    crew: { type: 'array', title: 'Crew', items: { type: 'string' } },
    note: { type: 'string', title: 'Note', advanced: true },
  },
  required: ['customer'],
};

function shown(props: Partial<Parameters<typeof SchemaForm>[0]> = {}) {
  const onSubmit = vi.fn();
  const form = (more: Partial<Parameters<typeof SchemaForm>[0]> = {}) => (
    <SchemaForm schema={SCHEMA} submitLabel="Run" onSubmit={onSubmit} {...props} {...more} />
  );
  const view = render(form());
  return { onSubmit, again: (more: Partial<Parameters<typeof SchemaForm>[0]>) => view.rerender(form(more)) };
}

const send = () => userEvent.click(screen.getByRole('button', { name: 'Run' }));

describe('a form generated from a schema', () => {
  it('submits typed values and defaults, and omits empty fields', async () => {
    const { onSubmit } = shown();
    await userEvent.type(screen.getByLabelText(/Customer/), 'Harbour');
    await userEvent.click(screen.getByLabelText('Paid'));
    await send();
    expect(onSubmit).toHaveBeenCalledWith({ customer: 'Harbour', days: 3, paid: true });
  });

  it('does not submit an incomplete form, shows the errors, and focuses the first one', async () => {
    const { onSubmit } = shown();
    await send();
    expect(onSubmit).not.toHaveBeenCalled();
    const customer = screen.getByLabelText(/Customer/);
    expect(customer.getAttribute('aria-invalid')).toBe('true');
    expect(screen.getByText('Required.')).toBeTruthy();
    expect(screen.getByRole('alert').textContent).toContain('Check the highlighted field.');
    await waitFor(() => expect(document.activeElement).toBe(customer));
    await userEvent.type(customer, 'x');
    expect(screen.queryByText('Required.')).toBeNull();
  });

  it('opens the advanced options for an error in them, and keeps them open while it is corrected', async () => {
    const { again } = shown();
    const options = () => screen.getByText('More options').closest('details')?.open;
    expect(options()).toBe(false);
    again({ errors: { note: 'Too short.' } });
    expect(options()).toBe(true);
    await userEvent.type(screen.getByLabelText('Note'), 'longer');
    expect(screen.queryByText('Too short.')).toBeNull();
    expect(options()).toBe(true);
  });

  it('shows a server error until the field is changed, and again when it is refused again', async () => {
    const { again } = shown();
    again({ errors: { days: 'Too many days.' } });
    expect(screen.getByText('Too many days.')).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Days'), '1');
    expect(screen.queryByText('Too many days.')).toBeNull();
    again({ errors: { days: 'Too many days.' } });
    expect(screen.getByText('Too many days.')).toBeTruthy();
  });

  it('shows server errors for unknown fields', () => {
    shown({ errors: { color: 'Unknown.' } });
    expect(screen.getByRole('alert').textContent).toContain('color: Unknown.');
  });

  it('keeps typed values when the schema and the initial values change', async () => {
    const { again, onSubmit } = shown();
    await userEvent.type(screen.getByLabelText(/Customer/), 'Harbour');
    again({ schema: structuredClone(SCHEMA), initial: { customer: 'Other', days: 9 } });
    await send();
    expect(onSubmit).toHaveBeenCalledWith({ customer: 'Harbour', days: 9 });
  });

  it('adds a list entry on Enter', async () => {
    const { onSubmit } = shown({ initial: { customer: 'c' } });
    await userEvent.click(screen.getByRole('button', { name: 'Add entry' }));
    await userEvent.type(screen.getByLabelText('Crew, entry 1'), 'Mara{Enter}');
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Crew, entry 2')));
    await userEvent.keyboard('Jonas');
    await send();
    expect(onSubmit.mock.calls[0]?.[0]).toMatchObject({ crew: ['Mara', 'Jonas'] });
  });

  it('turns pasted lines into entries', async () => {
    const { onSubmit } = shown({ initial: { customer: 'c', crew: [''] } });
    await userEvent.click(screen.getByLabelText('Crew, entry 1'));
    await userEvent.paste('Mara\nJonas\r\n\nIda');
    await send();
    expect(onSubmit.mock.calls[0]?.[0]).toMatchObject({ crew: ['Mara', 'Jonas', 'Ida'] });
  });

  it('does not submit while busy', async () => {
    const { onSubmit } = shown({ busy: true, initial: { customer: 'c' } });
    await userEvent.type(screen.getByLabelText(/Customer/), '{Enter}');
    expect(onSubmit).not.toHaveBeenCalled();
  });

  it('can be submitted when it has no fields', async () => {
    const { onSubmit } = shown({ schema: null });
    await send();
    expect(onSubmit).toHaveBeenCalledWith({});
  });

  it('supports a property named like a built-in of Object', async () => {
    const schema = JSON.parse('{"properties": {"__proto__": {"type": "string", "title": "Odd"}}}');
    const { onSubmit } = shown({ schema });
    await userEvent.type(screen.getByLabelText('Odd'), 'x');
    await send();
    expect(Object.entries(onSubmit.mock.calls[0]?.[0])).toEqual([['__proto__', 'x']]);
  });
});
