console.log("hi", process.version, process.argv.slice(2)); process.exitCode=3
