// Card of a fetched web page, shown as text.

import { ScrollBox } from '@/ui/page/scroll-box';
import { bytes } from '@/ui/text/format';
import { OutsideLink, pageAddress } from '@/ui/values/values';
import type { CardKinds, CardProps } from '../types';
import { Facts } from './parts';

function WebPageCard({ response }: CardProps<'web_fetch'>) {
  const { url, status_code, content_type, content, title, content_length, truncated } = response;
  const link = pageAddress(url);
  return (
    <>
      <div className="min-w-0">
        {title && <p className="font-medium break-words">{title}</p>}
        {link ? <OutsideLink href={link} /> : <p className="break-all">{url}</p>}
      </div>
      {content ? (
        <ScrollBox label="Page text" className="bg-sunken px-4 py-3">
          <p className="max-w-prose leading-relaxed break-words whitespace-pre-wrap">{content}</p>
        </ScrollBox>
      ) : (
        <p className="text-muted">The page is empty.</p>
      )}
      <Facts
        facts={[
          `Status ${status_code}`,
          content_type,
          Number.isFinite(content_length) && bytes(content_length),
          truncated && 'Truncated',
        ]}
      />
    </>
  );
}

export const web: CardKinds<'web_fetch'> = {
  web_fetch: {
    Card: WebPageCard,
    note: ({ status_code, title }) => (status_code >= 400 ? `Status ${status_code}` : title),
  },
};
