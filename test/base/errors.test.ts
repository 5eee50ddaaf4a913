// The catalogue of errors, compared with its documentation and its own rules.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  errorCatalogue,
  type ErrorCode,
  GatewayError,
  toGatewayError,
} from "../../src/base/errors.ts";
import { encodeError } from "../../src/http/errors/reply-error.ts";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** The rows of the table of error codes: code, status, type. */
const documented = [...page.matchAll(/^\| `(\w+)`\s*\| (\d{3})\s*\| `(\w+)`/gm)].map(
  ([, code, status, type]) => ({ code, status: Number(status), type }),
);

describe("docs/errors.md", () => {
  it("documents every code once, with its status and type, and no code that does not exist", () => {
    const expected = codes.map((code) => {
      const { status, type } = errorCatalogue[code];
      return { code, status, type };
    });
    expect(documented).toEqual(expected);
  });

  it("describes each error shape with its members and the place of the code", () => {
    const error = new GatewayError("task_not_found", "No such task.", { param: "id" });
    const styles = ["chat", "messages", "generate_content", "dashscope", "ark"] as const;
    const rows = [...page.matchAll(/^\| .*?\| `(\{.*?\})` +\| (.*?) +\|$/gm)];
    expect(rows).toHaveLength(styles.length);
    for (const [at, style] of styles.entries()) {
      const text = JSON.stringify(encodeError(style, error, "req_1"));
      const [, body, place] = rows[at]!;
      for (const [, name] of body!.matchAll(/"(\w+)"/g)) expect(text).toContain(`"${name}":`);
      const named = /`(?:[\w.]+\.)?(\w+)`[^`]*(?:`error.details`.*)?$/.exec(place!)![1]!;
      const code = { reason: `"reason":"TASK_NOT_FOUND"`, code: `"code":"task_not_found"` }[named];
      expect(text).toContain(
        code ?? (named === "error_code" ? `"error_code":"task_not_found"` : `"code":"${named}"`),
      );
    }
  });
});

describe("the catalogue", () => {
  it("gives errors of one status one type", () => {
    const types = new Map<number, Set<string>>();
    for (const { status, type } of Object.values(errorCatalogue))
      types.set(status, (types.get(status) ?? new Set()).add(type));
    for (const names of types.values()) expect(names.size).toBe(1);
  });

  it.each(codes)(
    "has %s in snake_case, with an error status and a meaning in whole sentences",
    (code) => {
      const { status, meaning } = errorCatalogue[code];
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(meaning).toMatch(/^[A-Z`].*\.$/);
    },
  );

  it("has a code for each layer and window of the spend caps", () => {
    for (const layer of ["workspace", "member", "key"]) {
      for (const period of ["total", "monthly", "weekly", "daily"])
        expect(codes).toContain(`${layer}_${period}_spend_cap_reached`);
    }
  });
});

describe("GatewayError", () => {
  it("takes status and type from the catalogue; its param is null if none is given", () => {
    const error = new GatewayError("model_not_found", "No such model: a/b.");
    expect(error).toMatchObject({ status: 404, type: "not_found_error", param: null });
    expect(error.shouldRetry).toBeUndefined();
  });

  it("keeps an upstream's own status if it is passed on", () => {
    const error = new GatewayError("upstream_rejected", "too long", {
      status: 422,
      param: "input",
    });
    expect(error).toMatchObject({ status: 422, type: "invalid_request_error", param: "input" });
  });

  it("wraps an unknown error as internal_error, whose text is kept only as the cause", () => {
    const fault = new Error("password=hunter2");
    const error = toGatewayError(fault);
    expect(error.code).toBe("internal_error");
    expect(error.message).not.toContain("hunter2");
    expect(error.cause).toBe(fault);
  });

  it("passes a GatewayError through unchanged", () => {
    const error = new GatewayError("invalid_json", "not JSON");
    expect(toGatewayError(error)).toBe(error);
  });
});
