/** Generates docs/requirements.md and docs/traps.md: each id with its sentence and the test files that cite it. */
import { citations, requirements, traps, type Section } from "./requirements.ts";

const generated = (source: string) =>
  `<!-- Generated from ${source} and the names of the tests by \`npm run docs\`. -->`;

/** "`rows/text`": the path below test/, without its ending. */
const short = (file: string) => `\`${file.replace(/\.test\.ts$/, "")}\``;

function list(sections: readonly Section[]): string {
  const cited = citations();
  return sections
    .map(({ level, title, rows }) => {
      const items = rows.map(({ id, sentence }) => {
        const files = (cited.get(id) ?? []).map(short).join(" ");
        return `- **${id}** ${sentence}\n  ${files}`;
      });
      return [`${"#".repeat(level)} ${title}`, items.join("\n")].join("\n\n").trim();
    })
    .join("\n\n");
}

export const requirementsPage = () => `# Requirements

${generated("docs/requirements.txt")}

What the gateway must do, one sentence an id. Tests cite the ids in their names, comments cite them where a line needs its
reason. An area such as \`CONV\` stands for all of its ids. Below each sentence are the tests that cite it:
\`rows/text\` is \`test/rows/text.test.ts\`. Points that were open are in [decisions](decisions.md), defects of other
gateways in [traps](traps.md).

What is dropped is also reported, where TXT-14, TXT-15 and TASK-33 say, unless its sentence says otherwise.

${list(requirements)}
`;

export const trapsPage = () => `# Traps

${generated("docs/traps.txt")}

Users of other gateways reported these defects. Each sentence says what holds here instead. Tests cite the ids in their
names, and below each sentence are the tests that cite it: \`rows/text\` is \`test/rows/text.test.ts\`.

${list(traps)}
`;
