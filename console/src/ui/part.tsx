/** A titled panel of a page. Wide content scrolls below the title. */
import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { ScrollBox } from "./scroll-box.tsx";

export const Part = (props: { title: string; children: ReactNode }) => (
  <section className="panel" style={{ marginTop: 16 }} aria-label={props.title}>
    <Title order={2} size="md" mb="sm">
      {props.title}
    </Title>
    <ScrollBox label={props.title}>{props.children}</ScrollBox>
  </section>
);
