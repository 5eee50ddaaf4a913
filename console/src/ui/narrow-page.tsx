/** The frame of pages outside the shell: one narrow column. */
import { Box, Title } from "@mantine/core";
import type { ReactNode } from "react";

export function NarrowPage(props: { title: string; children: ReactNode }) {
  return (
    <Box component="main" maw={360} mx="auto" px="lg" pt={96} pb={48}>
      <Title order={1} mb="xl">
        {props.title}
      </Title>
      {props.children}
    </Box>
  );
}
