/** A page's frame: its title, which gets the focus after navigation, and the content beside it. */
import { Group, Title } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { Unread } from "./unread.tsx";

/**
 * The path whose title has had the focus: once per navigation. A title that changes when data arrive must not steal the focus from
 * typing.
 */
let arrived = "";

/** The dialog that had the focus when the last navigation began: it closes with it. */
let left: Element | null = null;

const dialogInFocus = (): Element | null =>
  document.activeElement?.closest("[role=dialog]") ?? null;

/** Notes each navigation as it begins. */
function useMoves(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onBeforeNavigate", ({ pathChanged }) => {
        if (pathChanged) left = dialogInFocus();
      }),
    [router],
  );
}

export function Page(props: { title: string; aside?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useMoves();
  useEffect(() => {
    document.title = `${props.title} - Tollgate`;
    if (arrived === location.pathname) return;
    arrived = location.pathname;
    // A page may load late: a dialog opened since, such as the palette, keeps the focus.
    const dialog = dialogInFocus();
    if (dialog !== null && dialog !== left) return;
    heading.current?.focus({ preventScroll: true });
  }, [props.title]);
  return (
    <>
      <Group justify="space-between" mb="lg" mih={36}>
        <Title order={1} ref={heading} tabIndex={-1} style={{ outline: "none" }}>
          {props.title}
        </Title>
        {props.aside}
      </Group>
      <Unread />
      {props.children}
    </>
  );
}
