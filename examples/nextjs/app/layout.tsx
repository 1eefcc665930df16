import type { ReactNode } from 'react';

export const metadata = { title: 'Pilothouse with Next.js' };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body style={{ maxWidth: '40rem', margin: '2rem auto', fontFamily: 'system-ui' }}>{children}</body>
    </html>
  );
}
