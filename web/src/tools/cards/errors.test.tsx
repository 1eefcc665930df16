import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { EXAMPLES, type Example, partOf } from '@/styleguide/fixtures';
import { showCard } from '../testing/show-card';

const FAILED = EXAMPLES.error[1] as Example;

test('a failed run links to the library if the call names the agent', async () => {
  await showCard(partOf(FAILED));
  expect(screen.getByRole('link', { name: 'Run run-9' }).getAttribute('href')).toBe(
    '/library/agents/c0ffee00-entry?activeTab=runs&activeItem=run-9',
  );
  await showCard(partOf({ ...FAILED, input: {} }));
  expect(screen.queryByRole('link')).toBeNull();
  expect(screen.getByText('Run run-9')).toBeDefined();
});
