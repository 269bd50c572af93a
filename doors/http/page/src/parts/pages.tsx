// Where else one can go in a list that is read forwards only: each a link, or absent.

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
