import { readFile } from 'node:fs/promises'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Gives pages under development the configuration of the running `npm start`. */
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
  // Uses the client's source, not its last build.
  resolve: { conditions: ['@vaultline/source', 'module', 'browser', 'development|production'] },
  // Runs beside `npm start`, which serves the wallet at 3000; the API allows pages of both.
  server: { port: 5173, strictPort: true },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // One file holds what most pages share: thirteen requests for the first page, not twenty-four.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 5 }] } } },
  },
})
