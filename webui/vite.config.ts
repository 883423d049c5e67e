// How the page is built: base /det/, hashed assets, one chunk per page, and a development proxy to a master
// (DET_MASTER, default http://127.0.0.1:8080).
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const master = process.env["DET_MASTER"] ?? "http://127.0.0.1:8080";
const proxied = ["/api", "/stream", "/terminal", "/proxy", "/health"];

export default defineConfig({
  base: "/det/",
  plugins: [react()],
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      proxied.map((path) => [path, { target: master, ws: path !== "/api", changeOrigin: true }]),
    ),
  },
  worker: { format: "es" },
  build: {
    target: "es2023",
    manifest: true,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  test: {
    environment: "node",
    isolate: false,
    include: ["src/**/*.test.ts", "src/**/*.test.tsx"],
    // only to end a hang: no test promises to be fast on a busy machine
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
});
