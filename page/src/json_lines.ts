// Lays stored JSON out in lines and coloured tokens; every token stays as it was.

export type Kind = "key" | "string" | "number" | "word" | "mark";
export interface Token {
  kind: Kind;
  text: string;
}
export interface Line {
  depth: number;
  tokens: Token[];
}
export interface Layout {
  lines: Line[];
  cut: boolean; // there is more than `charsMax` characters, or `linesMax` lines
}

const token = /[ \t\n\r]*(?:("(?:[^"\\]|\\.)*"?)|([{}[\],:])|([^\s{}[\],:"]+))/gsy;

/// `json` may be anything: what is no JSON comes out token by token all the same.
export function layOut(json: string, charsMax: number, linesMax: number): Layout {
  const lines: Line[] = [];
  let line: Line = { depth: 0, tokens: [] };
  let depth = 0;
  let chars = 0;
  let opened = false; // the last token opened an object or array: it may be empty
  const feed = () => {
    if (line.tokens.length > 0) lines.push(line);
    line = { depth, tokens: [] };
  };

  token.lastIndex = 0;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    const [, string, mark, other] = found;
    const text = string ?? mark ?? other ?? "";
    const room = charsMax - chars;
    chars += text.length;
    const closes = mark === "}" || mark === "]";
    if (closes) depth = Math.max(0, depth - 1);
    if (opened !== closes) feed();
    if (room <= 0 || lines.length >= linesMax) {
      feed();
      return { lines, cut: true };
    }
    const whole = text.length <= room;
    line.tokens.push({
      kind: kindOf(string, mark, json, token.lastIndex),
      text: (whole ? text : `${text.slice(0, room)}…`) + (mark === ":" ? " " : ""),
    });
    opened = mark === "{" || mark === "[";
    if (opened) depth += 1;
    if (mark === ",") feed();
    if (!whole) {
      feed();
      return { lines, cut: true };
    }
  }
  feed();
  return { lines, cut: false };
}

function kindOf(string: string | undefined, mark: string | undefined, json: string, behind: number): Kind {
  if (mark !== undefined) return "mark";
  if (string !== undefined) return /^[ \t\n\r]*:/.test(json.slice(behind, behind + 8)) ? "key" : "string";
  return /[-\d]/.test(json[behind - 1] ?? "") ? "number" : "word";
}

/// One line for a table's cell.
export function inOneLine(json: string, charsMax: number): string {
  return json.length > charsMax ? `${json.slice(0, charsMax)}…` : json;
}
