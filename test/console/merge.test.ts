/** How rows of the event stream enter a list of the console. */
import { expect, it } from "vitest";
import {
  hasGap,
  stillWaiting,
  withNewRows,
  withUpdatedRows,
  withWaiting,
  type Pages,
} from "../../console/src/base/merge.ts";

interface Row {
  readonly id: string;
  readonly state?: string;
}
const listOf = (rows: readonly Row[], hasMore = false): Pages<Row> => ({
  pages: [{ data: rows, has_more: hasMore, next_cursor: hasMore ? rows.at(-1)!.id : null }],
  pageParams: [undefined],
});
const idsOf = ({ pages }: Pages<Row>) => pages.flatMap(({ data }) => data.map(({ id }) => id));

it("new rows enter a list once and in order; those beyond its end wait for their page", () => {
  const list = listOf([{ id: "req_05" }, { id: "req_03" }], true);
  const rows = ["req_04", "req_05", "req_09", "req_01"].map((id) => ({ id }));
  expect(idsOf(withNewRows(list, rows))).toEqual(["req_09", "req_05", "req_04", "req_03"]);
  expect(idsOf(withNewRows(listOf([{ id: "req_05" }]), rows))).toContain("req_01");
  const many = Array.from({ length: 600 }, (_, n) => ({
    id: `req_1${String(n).padStart(3, "0")}`,
  }));
  const full = withNewRows(list, many);
  expect(full.pages[0]!.data).toHaveLength(500);
  expect(full.pages[0]!.next_cursor).toBe(idsOf(full).at(-1));
});

it("a changed row is updated, and leaves a list whose filter it no longer matches", () => {
  const list = listOf([{ id: "task_2", state: "running" }, { id: "task_1" }]);
  const row = { id: "task_2", state: "succeeded" };
  expect(withUpdatedRows(list, [row], () => true).pages[0]!.data[0]).toEqual(row);
  expect(idsOf(withUpdatedRows(list, [row], ({ state }) => state === "running"))).toEqual([
    "task_1",
  ]);
  expect(withUpdatedRows(list, [{ id: "task_3" }], () => true)).toBe(list);
});

it("a row that waits above a list is shown in its current state, or not if it no longer matches", () => {
  const [first, other] = [{ id: "task_2", state: "queued" }, { id: "task_1" }];
  const waiting = withWaiting({ rows: [], skipped: 0 }, [first, other], [first, other]);
  expect(waiting).toEqual({ rows: [first, other], skipped: 0 });
  const ended = { id: "task_2", state: "succeeded" };
  expect(withWaiting(waiting, [ended], [ended])).toEqual({ rows: [other, ended], skipped: 0 });
  // It no longer matches the filter, or has entered the list.
  expect(withWaiting(waiting, [ended], [])).toEqual({ rows: [other], skipped: 0 });
  expect(withWaiting(waiting, [{ id: "task_3" }], [])).toBe(waiting);
  const many = Array.from({ length: 500 }, (_, n) => ({ id: `task_${1000 + n}` }));
  const full = withWaiting(waiting, many, many);
  expect([full.rows.length, full.skipped]).toEqual([500, 2]);
});

it("rows that a list has after it was read again no longer wait above it", () => {
  const waiting = { rows: [{ id: "req_07" }, { id: "req_09" }], skipped: 3 };
  const again = listOf([{ id: "req_07" }, { id: "req_05" }]);
  expect(stillWaiting(waiting, again)).toEqual({ rows: [{ id: "req_09" }], skipped: 3 });
  expect(stillWaiting(waiting, listOf([{ id: "req_05" }]))).toBe(waiting);
});

it("found rows of a rare filter stay: a first page that searched only a part has no gap to them", () => {
  const found = listOf([{ id: "req_03" }, { id: "req_01" }], true);
  const pageOf = (...ids: readonly string[]) => ({
    data: ids.map((id) => ({ id })),
    has_more: true,
    next_cursor: "req_05",
  });
  expect(hasGap(found, pageOf(), 2)).toBe(false);
  expect(hasGap(found, pageOf("req_09"), 2)).toBe(false);
  expect(hasGap(found, pageOf("req_09", "req_08"), 2)).toBe(true);
  expect(hasGap(found, pageOf("req_09", "req_03"), 2)).toBe(false);
  expect(hasGap(found, { ...pageOf("req_09", "req_08"), has_more: false }, 2)).toBe(false);
});
