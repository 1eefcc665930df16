import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { newQueryClient } from './api/queries';
import { router } from './routes';
import { Toaster } from './ui/feedback/toast';

/** The whole app: the query cache, the router and the notifications. */
export function App() {
  const [client] = useState(newQueryClient);
  return (
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <Toaster />
    </QueryClientProvider>
  );
}
