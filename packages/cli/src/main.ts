console.error('shardswap: under construction')
process.exitCode = 1
