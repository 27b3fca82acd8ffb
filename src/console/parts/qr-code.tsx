// A QR code, drawn as one path.

import { useEffect, useState } from 'preact/hooks'

interface QrCodeProps {
  readonly text: string
  readonly label: string
}

export function QrCode({ text, label }: QrCodeProps) {
  const [rows, setRows] = useState<readonly (readonly boolean[])[]>([])
  useEffect(() => {
    void import('uqr').then(({ encode }) => setRows(encode(text, { ecc: 'M', border: 0 }).data))
  }, [text])
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label}>
      <path d={path} shape-rendering="crispEdges" />
    </svg>
  )
}
