/** The link of a row: the first click shows the call beside the list, the second opens its page. */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type MouseEvent } from "react";
import { readInColumn } from "../../base/time.ts";
import { useNarrow } from "../../ui/narrow.ts";
import { useToday } from "../../ui/use-today.ts";
import type { Row } from "./queries.ts";

const route = getRouteApi("/shell/requests");

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

export function RowLink({ row: { id, created_at: at } }: { row: Row }) {
  const { open } = route.useSearch();
  const navigate = useNavigate();
  const isNarrow = useNarrow();
  const now = useToday();
  const isOpen = open === id;
  // Phones have no room for both.
  const press = (event: MouseEvent) => {
    if (isNarrow || isOpen || !isPlain(event)) return;
    event.preventDefault();
    void navigate({
      to: "/requests",
      search: (before) => ({ ...before, open: id }),
      replace: open !== undefined,
      resetScroll: false,
    });
  };
  return (
    <Link
      to="/requests/$id"
      params={{ id }}
      search={({ live: _live, open: _open, ...list }) => list}
      title={at}
      onClick={press}
      {...(isOpen && { "aria-current": true as const })}
    >
      {readInColumn(new Date(at), now)}
    </Link>
  );
}
