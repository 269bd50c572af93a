// Builds dist/ from src/: the same sources and package-lock.json give the same bytes. `node build.mjs DIR` builds elsewhere.
import { build } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = process.argv[2] ?? join(here, "dist");

await rm(dist, { recursive: true, force: true });
await mkdir(join(dist, "assets"), { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  outdir: join(dist, "assets"),
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome111", "firefox113", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
});
await writeFile(
  join(dist, "index.html"),
  (await readFile(join(here, "src/index.html"), "utf8")).replace(/\n\s*/g, "\n"),
);

// Their licences ask to go with every copy.
const notices = [];
for (const name of ["preact", "uplot"]) {
  const { version } = JSON.parse(await readFile(join(here, "node_modules", name, "package.json"), "utf8"));
  const text = await readFile(join(here, "node_modules", name, "LICENSE"), "utf8");
  notices.push(`${name} ${version}\n\n${text.trim()}\n`);
}
await writeFile(join(dist, "assets/licenses.txt"), `The page contains parts of:\n\n${notices.join("\n\n")}`);
