// Where else one can go in a list that is read forwards only: each a link, or absent.

const begins = new Map<string, string>();

/// Where the page before the one behind `after` begins, as far as one came here by Next. `list`: which, as it is filtered.
export function pageBefore(list: string, after: string, next: string | null | undefined): string | undefined {
  const ahead = `${list}\n${next}`;
  // Once: while the next page is on its way, this one's `next` is still here, and `after` is that page's.
  if (next && !begins.has(ahead)) begins.set(ahead, after);
  return after === "" ? undefined : begins.get(`${list}\n${after}`);
}

export function Pages(links: { first: string | undefined; back: string | undefined; next: string | undefined }) {
  return (
    <div class="pager" role="group" aria-label="Pages">
      <Page name="First" at={links.first} />
      <Page name="Previous" at={links.back} />
      <Page name="Next" at={links.next} />
    </div>
  );
}

const Page = ({ name, at }: { name: string; at: string | undefined }) =>
  at === undefined ? (
    <span class="button off" aria-disabled="true">
      {name}
    </span>
  ) : (
    <a class="button" href={at}>
      {name}
    </a>
  );
