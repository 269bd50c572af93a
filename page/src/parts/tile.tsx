// One figure among a few, with what it is of.

export const Tile = ({ name, value, note }: { name: string; value: string; note: string }) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      <b class="num">{value}</b>
      <span class="dim">{note}</span>
    </dd>
  </div>
);
