/** Files that the console saves. */
import { resolveObjectURL } from "node:buffer";
import { expect, it, onTestFinished, vi } from "vitest";
import { saveFile } from "../../console/src/base/save-file.ts";

it("a file that is saved can be read until the browser has read it, and not for ever", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const link = { href: "", download: "", click: vi.fn() };
  saveFile(new Blob(["a,b\r\n"]), "usage.csv", link);
  expect(link).toMatchObject({ download: "usage.csv" });
  expect(link.click).toHaveBeenCalledOnce();
  // Firefox begins to read after the click.
  expect(resolveObjectURL(link.href)?.size).toBe(5);
  vi.runAllTimers();
  expect(resolveObjectURL(link.href)).toBeUndefined();
});
