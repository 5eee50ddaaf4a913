/** A page's frame: its title, which takes the focus after a move, and what stands beside it. */
import { Group, Title } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";

export function Page(props: { title: string; aside?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} - Tollgate`;
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
