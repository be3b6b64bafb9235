import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // The client as it stands here, not as it was last built.
  resolve: { conditions: ['@vaultline/source', 'module', 'browser', 'development|production'] },
  server: { port: 3000, strictPort: true },
  build: { target: 'es2022', modulePreload: { polyfill: false } },
})
