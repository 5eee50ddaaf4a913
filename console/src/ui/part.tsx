/** A panel of a page, with its title. */
import { Title } from "@mantine/core";
import type { ReactNode } from "react";

export const Part = (props: { title: string; children: ReactNode }) => (
  <section className="panel" style={{ marginTop: 16, overflowX: "auto" }} aria-label={props.title}>
    <Title order={2} size="md" mb="sm">
      {props.title}
    </Title>
    {props.children}
  </section>
);
