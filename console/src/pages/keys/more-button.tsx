/** Opens the further settings of a new key. Initially closed: three clicks create a key. */
import { Button } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { MoreProps } from "./more-fields.tsx";

const MoreFields = lazy(async () => ({ default: (await import("./more-fields.tsx")).MoreFields }));

export function More(props: MoreProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        variant="subtle"
        size="xs"
        aria-expanded={isOpen}
        style={{ alignSelf: "flex-start" }}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? "Fewer settings" : "More settings"}
      </Button>
      {isOpen && (
        <Suspense>
          <MoreFields {...props} />
        </Suspense>
      )}
    </>
  );
}
