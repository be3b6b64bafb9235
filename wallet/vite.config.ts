import { readFile } from 'node:fs/promises'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Serves the `/config.json` of the running `npm start` to pages under development. */
const runningService: Plugin = {
  name: 'running-service',
  configureServer({ middlewares }) {
    middlewares.use('/config.json', (_request, response, next) => {
      readRunningConfig().then((config) => response.setHeader('content-type', 'application/json').end(config), next)
    })
  },
}

async function readRunningConfig(): Promise<string> {
  const state = await readFile(new URL('../.local/state.json', import.meta.url), 'utf8').catch(() => {
    throw new Error('The local service is not running. Start it in another terminal: npm start')
  })
  const { walletUrl } = JSON.parse(state)
  return (await fetch(`${walletUrl}/config.json`)).text()
}

export default defineConfig({
  plugins: [react(), runningService],
  // Imports of the client package use its source, not its last build.
  resolve: { conditions: ['@vaultline/source', 'module', 'browser', 'development|production'] },
  // The development server runs beside `npm start`, which serves the wallet at port 3000. The API allows pages of both ports.
  server: { port: 5173, strictPort: true },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Modules that at least five pages share go into one file. So the first page needs 13 requests instead of 24.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 5 }] } } },
  },
})
