/** One call in a panel beside its list; the keyboard steps to the next call. */
import { Button, CloseButton, Group, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode, type Ref } from "react";
import { Copy } from "../../../ui/copy.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { usePageKeys } from "../../../ui/shortcuts.ts";
import { CallRead, SendAgain, useCall } from "./call.tsx";
import classes from "./peek.module.css";

interface HeadProps {
  readonly id: string;
  /** Its first link, focused at first, so that Enter opens the page. */
  readonly first: Ref<HTMLAnchorElement>;
  /** Undefined if the list has none. */
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
  readonly close: () => void;
  readonly children: ReactNode;
}

function Head({ id, first, previous, next, close, children }: HeadProps) {
  const small = { size: "xs", variant: "default" } as const;
  return (
    <Group className={classes["head"]} justify="space-between" wrap="nowrap" gap="sm">
      <Group gap="sm">
        <Button
          {...small}
          renderRoot={(props) => (
            <Link
              to="/requests/$id"
              params={{ id }}
              search={({ live: _live, open: _open, ...list }) => list}
              {...props}
              ref={first}
            />
          )}
        >
          Open page
        </Button>
        <Button {...small} disabled={previous === undefined} onClick={previous}>
          Previous
        </Button>
        <Button {...small} disabled={next === undefined} onClick={next}>
          Next
        </Button>
        {children}
        <Copy isNamed label="the id" text={() => id} />
      </Group>
      <CloseButton aria-label="Close the call" onClick={close} />
    </Group>
  );
}

interface PeekProps {
  readonly id: string;
  /** The ids of the list, in order. */
  readonly ids: readonly string[];
  /** Shows another call; undefined closes the panel. */
  readonly show: (id: string | undefined) => void;
}

/** The link of a call's row, if the row is rendered. */
const linkOf = (id: string) =>
  document.querySelector<HTMLElement>(`main table a[href^="/requests/${CSS.escape(id)}"]`);

export function Peek({ id, ids, show }: PeekProps) {
  const read = useCall(id);
  const panel = useRef<HTMLElement>(null);
  const first = useRef<HTMLAnchorElement>(null);
  const at = ids.indexOf(id);
  const before = at > 0 ? ids[at - 1] : undefined;
  const after = at === -1 ? undefined : ids[at + 1];
  const go = (to: string | undefined) => () => to !== undefined && show(to);
  const close = () => {
    show(undefined);
    linkOf(id)?.focus();
  };
  usePageKeys([
    { key: "j", what: "To the next call", act: go(after) },
    { key: "k", what: "To the previous call", act: go(before) },
    { key: "]", what: "To the next call", act: go(after) },
    { key: "[", what: "To the previous call", act: go(before) },
    { key: "c", what: "Copy the id", act: () => copyText(id) },
    { key: "Escape", what: "Close the call", act: close },
  ]);
  // Enter opens the call's page; each next call starts scrolled to the top.
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    panel.current?.scrollTo({ top: 0 });
    linkOf(id)?.closest("tr")?.scrollIntoView({ block: "nearest" });
  }, [id]);
  return (
    <aside ref={panel} className={classes["peek"]} aria-label={`Request ${id}`}>
      <Head
        id={id}
        first={first}
        previous={before === undefined ? undefined : go(before)}
        next={after === undefined ? undefined : go(after)}
        close={close}
      >
        {read.data?.model != null && <SendAgain id={id} />}
      </Head>
      <Title order={2} size="sm" className="mono" my="md">
        {id}
      </Title>
      <CallRead read={read} />
    </aside>
  );
}
