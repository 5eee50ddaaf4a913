/** Every command describes itself, and wrong usage is exit code 2 with one helpful line. */
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import type { Command } from "commander";
import { tollgateHere } from "../support/command.ts";
import { recordLoadedParts } from "../support/loaded-parts.ts";
import { tollgate } from "../support/process.ts";

interface Named {
  /** Such as `keys create`. */
  readonly words: string;
  readonly command: Command;
}

function commands(command: Command, above = ""): Named[] {
  return command.commands.flatMap((child) => {
    const words = `${above} ${child.name()}`.trim();
    return [{ words, command: child }, ...commands(child, words)];
  });
}

const all = commands(createProgram());

it("the commands are exactly the documented ones", () => {
  expect(all.map(({ words }) => words)).toEqual([
    "serve",
    "sandbox",
    "keys",
    "keys create",
    "keys list",
    "keys disable",
    "keys enable",
    "keys revoke",
    "keys reveal",
    "keys rotate",
    "workspaces",
    "workspaces list",
    "workspaces create",
    "workspaces set",
    "members",
    "members list",
    "members add",
    "members set",
    "members remove",
    "credits",
    "credits add",
    "credits take",
    "credits show",
    "credits list",
    "erase",
    "erase end-user",
    "erase person",
    "usage",
    "requests",
    "requests list",
    "requests show",
    "vendors",
    "models",
    "providers",
    "providers list",
    "providers add",
    "providers change",
    "providers remove",
    "providers test",
    "providers pause",
    "providers resume",
    "providers credentials",
    "providers credentials add",
    "providers credentials remove",
    "catalog",
    "catalog update",
    "catalog list",
    "catalog rollback",
    "config",
    "config check",
    "config schema",
    "config example",
    "config print",
    "convert",
    "convert litellm",
    "doctor",
    "verify",
    "migrate",
    "rotate-master-key",
    "export",
    "backup",
    "restore",
    "completion",
  ]);
});

describe("help", () => {
  it.each(all)(
    "tollgate $words shows its usage, its purpose and each option",
    ({ words, command }) => {
      expect(command.helpInformation()).toContain(`Usage: tollgate ${words}`);
      expect(command.description()).not.toBe("");
      expect(command.options.filter((option) => option.description === "")).toEqual([]);
    },
  );

  it.each(["", "keys rotate"])(
    "%s --help exits with 0 and prints to standard output",
    async (words) => {
      const { code, stdout, stderr } = await tollgate(
        [...words.split(" ").filter(Boolean), "--help"],
        {},
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`Usage: tollgate ${words}`);
    },
  );

  it("loads none of the gateway's modules", async () => {
    const telling = recordLoadedParts();
    await tollgate(["keys", "create", "--help"], telling.environment);
    expect(telling.parts()).toEqual(new Set(["cli", "base"]));
  });

  it.each(["help keys create", "keys help create", "help export"])(
    "tollgate %s shows the same help",
    async (words) => {
      const { code, stdout, stderr } = await tollgateHere(words.split(" "), {});
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const named = words.replace("help ", "");
      expect(stdout).toContain(`Usage: tollgate ${named} [options]`);
    },
  );

  it("--version prints the version of the package", async () => {
    const { code, stdout } = await tollgate(["--version"], {});
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });
});

describe("wrong usage: exit 2, and nothing on standard output", () => {
  it.each([
    [["usage", "--tag", "a:1", "--tag=b:2"], "--tag is there twice; name one value"],
    [
      ["requests", "list", "--status", "failed", "--status", "failed"],
      "--status is there twice; name all values at once, separated by commas",
    ],
    [["serve", "--prot", "1"], '"serve" has no option "--prot"; did you mean "--port"?'],
    [["--prot=1"], '"serve" has no option "--prot"; did you mean "--port"?'],
    [
      ["keys", "create", "--nam", "x"],
      '"keys create" has no option "--nam"; did you mean "--name"?',
    ],
    [
      ["keys", "create", "--total-cap", "1", "--nme=x"],
      'no option "--nme"; did you mean "--name"?',
    ],
    [["export", "ledger", "--frm", "2026-11-01"], 'no option "--frm"; did you mean "--from"?'],
    [["credits", "add", "--amount", "5"], 'no option "--amount"; allowed: --workspace, --note,'],
    [
      ["config", "example", "--file", "x"],
      '"config example" has no option "--file"; allowed: --help',
    ],
    [["keys", "revoke", "--id", "key_1"], "write the value alone: tollgate keys revoke <id>"],
    [["keys", "list", "--", "--nam"], "too many arguments"],
    [["dance"], 'tollgate: there is no command "dance"; allowed: serve, sandbox, keys,'],
    [["dance", "--help"], 'there is no command "dance"'],
    [["help", "dance"], 'there is no command "dance"'],
    [["kesy", "list"], 'there is no command "kesy"; did you mean "keys"?'],
    [["create", "--name", "x"], 'did you mean "keys create" or "workspaces create"?'],
    [["keys", "foo"], 'there is no command "keys foo"; allowed: create, list, disable,'],
    [["keys", "creat"], 'there is no command "keys creat"; did you mean "create"?'],
    [["keys"], "Usage: tollgate keys"],
    [["keys", "create"], "tollgate: required option '--name <name>' not specified"],
    [["keys", "revoke"], "tollgate: missing required argument 'id'"],
    [["serve", "--port", "abc"], '--port is "abc"; it takes a port from 0 to 65535'],
    [["sandbox", "--port", "-1"], "it takes a port from 0 to 65535"],
    [["credits", "add", "lots"], '"lots" is not an amount in USD such as 25.00'],
    [["keys", "rotate", "key_1", "--grace-seconds", "soon"], "it takes a number of seconds"],
    [["keys", "list", "--status", "happy"], "it takes active, disabled, revoked"],
    [["keys", "list", "--url", "localhost"], "it takes an address such as http://127.0.0.1:8080"],
    [["keys", "list", "--url", "http://127.0.0.1:1"], "set TOLLGATE_ADMIN_TOKEN, or"],
    [["workspaces", "set", "x"], "nothing to change: name an option"],
    [["members", "set", "x@example.com"], "nothing to change: name an option"],
    [["providers", "change", "x"], "nothing to change: name an option"],
    [
      ["providers", "credentials", "add", "x", "y", "--weight", "0"],
      '--weight is "0"; it takes a number above 0',
    ],
    [["keys", "create", "--name", "x", "--models", ","], '--models is ","; it takes ids separated'],
    [["workspaces", "create", "--name", "x", "--models", " "], "it takes ids separated by commas"],
    [["keys", "create", "--name", "x", "--expires", "2020-01-01"], "which is in the past"],
    [["members", "add", "x@example.com", "--role", "boss"], "it takes admin, member"],
    [["usage", "--by", "mood"], "it takes model, key, provider, member, workspace"],
    [["usage", "--by", "mood"], "error_code, tag:NAME"],
    [["--verison"], 'no option "--verison"; did you mean "--version"?'],
    [["usage", "--csv", "--json"], "name one of --csv and --json"],
    [["requests", "list", "--limit", "0"], '--limit is "0"; it takes a number from 1 to 100'],
    [["completion", "tcsh"], '<shell> is "tcsh"; it takes bash, zsh'],
    [["usage", "--from", "once"], '--from is "once"; it takes a time'],
  ])("%j", async (words, line) => {
    const { code, stdout, stderr } = await tollgateHere(words, {
      TOLLGATE_DATA_DIR: "/nowhere-at-all",
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(line);
    expect(stderr).not.toContain("    at ");
  });
});
