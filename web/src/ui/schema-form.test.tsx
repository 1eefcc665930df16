import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { SchemaForm } from './schema-form';

const SCHEMA = {
  type: 'object',
  properties: {
    customer: { type: 'string', title: 'Customer', description: 'Whom it is for.' },
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

describe('a form made from a schema', () => {
  it('gives what was typed, with defaults, and leaves out what was not', async () => {
    const { onSubmit } = shown();
    await userEvent.type(screen.getByLabelText(/Customer/), 'Harbour');
    await userEvent.click(screen.getByLabelText('Paid'));
    await send();
    expect(onSubmit).toHaveBeenCalledWith({ customer: 'Harbour', days: 3, paid: true });
  });

  it('does not send what is incomplete, says where, and takes the cursor there', async () => {
    const { onSubmit } = shown();
    await send();
    expect(onSubmit).not.toHaveBeenCalled();
    const customer = screen.getByLabelText(/Customer/);
    expect(customer.getAttribute('aria-invalid')).toBe('true');
    expect(screen.getByText('Fill this in.')).toBeTruthy();
    expect(screen.getByRole('alert').textContent).toContain('One field');
    await waitFor(() => expect(document.activeElement).toBe(customer));
    await userEvent.type(customer, 'x');
    expect(screen.queryByText('Fill this in.')).toBeNull();
  });

  it('opens the further options for an error in them, and leaves them open while it is corrected', async () => {
    const { again } = shown();
    const options = () => screen.getByText('More options').closest('details')?.open;
    expect(options()).toBe(false);
    again({ errors: { note: 'Too short.' } });
    expect(options()).toBe(true);
    await userEvent.type(screen.getByLabelText('Note'), 'longer');
    expect(screen.queryByText('Too short.')).toBeNull();
    expect(options()).toBe(true);
  });

  it('shows what the server refuses until it is changed, and again when it is refused again', async () => {
    const { again } = shown();
    again({ errors: { days: 'Too many days.' } });
    expect(screen.getByText('Too many days.')).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Days'), '1');
    expect(screen.queryByText('Too many days.')).toBeNull();
    again({ errors: { days: 'Too many days.' } });
    expect(screen.getByText('Too many days.')).toBeTruthy();
  });

  it('shows what the server says about fields that are not there', () => {
    shown({ errors: { colour: 'Unknown.' } });
    expect(screen.getByRole('alert').textContent).toContain('colour: Unknown.');
  });

  it('keeps what was typed when the schema and the first values come anew', async () => {
    const { again, onSubmit } = shown();
    await userEvent.type(screen.getByLabelText(/Customer/), 'Harbour');
    again({ schema: structuredClone(SCHEMA), initial: { customer: 'Other', days: 9 } });
    await send();
    expect(onSubmit).toHaveBeenCalledWith({ customer: 'Harbour', days: 9 });
  });

  it('grows a list with Enter', async () => {
    const { onSubmit } = shown({ initial: { customer: 'c' } });
    await userEvent.click(screen.getByRole('button', { name: 'Add an entry' }));
    await userEvent.type(screen.getByLabelText('Crew, entry 1'), 'Mara{Enter}');
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Crew, entry 2')));
    await userEvent.keyboard('Jonas');
    await send();
    expect(onSubmit.mock.calls[0]?.[0]).toMatchObject({ crew: ['Mara', 'Jonas'] });
  });

  it('makes entries of pasted lines', async () => {
    const { onSubmit } = shown({ initial: { customer: 'c', crew: [''] } });
    await userEvent.click(screen.getByLabelText('Crew, entry 1'));
    await userEvent.paste('Mara\nJonas\r\n\nIda');
    await send();
    expect(onSubmit.mock.calls[0]?.[0]).toMatchObject({ crew: ['Mara', 'Jonas', 'Ida'] });
  });

  it('sends nothing twice while it is busy', async () => {
    const { onSubmit } = shown({ busy: true, initial: { customer: 'c' } });
    await userEvent.type(screen.getByLabelText(/Customer/), '{Enter}');
    expect(onSubmit).not.toHaveBeenCalled();
  });

  it('can be sent when there is nothing to fill in', async () => {
    const { onSubmit } = shown({ schema: null });
    await send();
    expect(onSubmit).toHaveBeenCalledWith({});
  });

  it('takes a property named like a birthright of objects', async () => {
    const schema = JSON.parse('{"properties": {"__proto__": {"type": "string", "title": "Odd"}}}');
    const { onSubmit } = shown({ schema });
    await userEvent.type(screen.getByLabelText('Odd'), 'x');
    await send();
    expect(Object.entries(onSubmit.mock.calls[0]?.[0])).toEqual([['__proto__', 'x']]);
  });
});
