/** How the console is built: scripts/console.mjs runs it. docs/console.md. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The script that sets the colour scheme: loaded at once, where a module would wait for the page. */
function themeBoot(): Plugin {
  const source = readFileSync(new URL("theme-boot.js", import.meta.url), "utf8");
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 8);
  const fileName = `assets/theme-boot-${hash}.js`;
  return {
    name: "theme-boot",
    transformIndexHtml: () => [
      { tag: "script", attrs: { src: `/${fileName}` }, injectTo: "head-prepend" },
    ],
    generateBundle() {
      this.emitFile({ type: "asset", fileName, source });
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  configFile: false,
  plugins: [react(), themeBoot()],
  // Replaced in each answer by one that is used once (src/http/console).
  html: { cspNonce: "CSP_NONCE" },
  build: {
    target: "es2023",
    // The policy allows no `data:` addresses.
    assetsInlineLimit: 0,
    manifest: "manifest.json",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    reportCompressedSize: false,
  },
});
