/** A page's frame: its title, which takes the focus after a move, and what stands beside it. */
import { Group, Title } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";

/** The path whose title has had the focus: it gets it once a move. A title that changes when its data arrive must not take it from what somebody types. */
let arrived = "";

export function Page(props: { title: string; aside?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} - Tollgate`;
    if (arrived === location.pathname) return;
    arrived = location.pathname;
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
      {props.children}
    </>
  );
}
