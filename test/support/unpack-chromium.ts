// Unpacks Chromium, and libraries that some machines lack, into the folder for temporary files.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import chromium, { inflate } from '@sparticuz/chromium'

const libraries = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '../bin/al2023.tar.br')
await Promise.all([chromium.executablePath(), inflate(libraries)])
