/** `tollgate completion`: the suggestions of a shell after some words. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";

/** The suggestions of bash for the last of `words`. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const { code, stdout } = await tollgateHere(["completion", "bash"], {});
  expect(code).toBe(0);
  const ask = [
    'COMP_WORDS=("$@")',
    "COMP_CWORD=$(($# - 1))",
    "_tollgate",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ];
  const script = `${stdout}\n${ask.join("\n")}`;
  const args = ["--norc", "-c", script, "bash", "tollgate", ...words];
  return execFileSync("bash", args, { encoding: "utf8" }).trim().split("\n");
}

it.each([
  [["ke"], ["keys"]],
  [
    ["keys", "re"],
    ["revoke", "reveal"],
  ],
  [
    ["keys", "create", "--mo"],
    ["--monthly-cap", "--models"],
  ],
  [
    ["providers", "credentials", ""],
    ["add", "remove", "--help"],
  ],
  // An option and its value before the word do not change the result.
  [["keys", "list", "--status", "active", "--w"], ["--workspace"]],
])("completion after %j", async (words, expected) => {
  expect(await offered(...words)).toEqual(expected);
});

it("zsh gets bash's script through bashcompinit", async () => {
  const bash = await tollgateHere(["completion", "bash"], {});
  const zsh = await tollgateHere(["completion", "zsh"], {});
  expect(zsh.stdout).toBe(`autoload -U +X bashcompinit && bashcompinit\n${bash.stdout}`);
});
