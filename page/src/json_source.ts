// Reads an answer of the API without touching what users stored: members named in `kept` stay the text they were (numbers, order, repeated keys).

/// JSON as it stood in the answer.
export class Raw {
  constructor(readonly text: string) {}
}

const blank = /[ \t\n\r]*/y;
const plain = /[^"\\]*/y;
const structural = /[^"[\]{}]*/y;
const scalar = /[^,\]}\s]*/y;

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

function stringEnd(text: string, at: number): number {
  for (let i = match(plain, text, at + 1); i < text.length; i = match(plain, text, i + 2)) {
    if (text[i] === '"') return i + 1;
  }
  throw new SyntaxError("a string without an end");
}

/// Where the value that begins at `at` ends. Depth costs nothing.
function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first !== "{" && first !== "[") return match(scalar, text, at);
  let depth = 0;
  for (let i = at; i < text.length; i = match(structural, text, i)) {
    const c = text[i];
    if (c === '"') {
      i = stringEnd(text, i);
      continue;
    }
    depth += c === "{" || c === "[" ? 1 : -1;
    i += 1;
    if (depth === 0) return i;
  }
  throw new SyntaxError("a value without an end");
}

/// Errors: SyntaxError
export function parse(text: string, kept: ReadonlySet<string>): unknown {
  let at = 0;
  const skip = () => (at = match(blank, text, at));
  const expect = (c: string) => {
    if (text[skip()] !== c) throw new SyntaxError(`expected ${c} at ${at}`);
    at += 1;
  };
  const slice = () => text.slice(skip(), (at = valueEnd(text, at)));

  function value(): unknown {
    const first = text[skip()];
    if (first === "{") return object();
    if (first === "[") return array();
    return JSON.parse(slice());
  }
  function object(): unknown {
    const members: Record<string, unknown> = Object.create(null);
    expect("{");
    if (text[skip()] === "}") return ((at += 1), members);
    for (;;) {
      const name = JSON.parse(slice()) as string;
      expect(":");
      members[name] = kept.has(name) ? new Raw(slice()) : value();
      if (text[skip()] === "}") return ((at += 1), members);
      expect(",");
    }
  }
  function array(): unknown {
    const elements: unknown[] = [];
    expect("[");
    if (text[skip()] === "]") return ((at += 1), elements);
    for (;;) {
      elements.push(value());
      if (text[skip()] === "]") return ((at += 1), elements);
      expect(",");
    }
  }

  const read = value();
  if (skip() !== text.length) throw new SyntaxError(`more behind the value, at ${at}`);
  return read;
}
